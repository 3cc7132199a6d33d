"""Fixed lists of the names and words of the closed world.

Names are listed, not generated, so that every name is one token of the lab's vocabulary and every
token is trained. All names are invented.
"""

FIRST_NAMES = tuple(
    """
    Albel Aldan Allia Almon Alrus Alsela Alvia Bemira Beric Bormira Borric Cador Calis
    Corlene Cormira Dagar Daric Dathea Davek Davia Deldan Delrin Delton Delvek Dormira
    Dormon Dorric Dorrin Dorton Eldan Ellene Ellis Elrena Elton Elvek Elvia Enbel Enlene
    Enrin Enton Fanora Farin Farus Fasela Fenbel Fendan Fenmira Fenric Fenrus Gabel Ganora
    Gaton Gilgar Gillene Gilnora Gilric Gilrin Gilrus Halgar Halmira Halrena Halric Halthea
    Hardor Harlene Harlia Harsela Harvia Ilbel Ildan Illis Ilmira Ilton Jarlis Jarmira
    Jarnora Jarrena Jarrin Kamon Karena Karic Karin Karus Kelbel Keldan Kelvek Lathea Lavia
    Lorbel Lordor Lorrena Magar Mavia Merdor Mergar Merrus Merton Molene Momira Movek Nabel
    Nagar Namira Namon Norlia Norrena Norsela Ollis Olsela Olvia Ordan Ordor Orlia Orrena
    Ortia Padan Pagar Pamon Panora Permira Pernora Persela Perthea Pertia Pervek Rador Ralia
    Rarus Ravek Ravia Rendan Rengar Renlene Renlia Renrin Renrus Renton Renvek Romon Roric
    Sador Saric Savek Seldor Sellene Selmon Selrena Selthea Selvia Sodan Somira Sonora
    Sosela Sotia Soton Tamon Tellia Telmon Tordan Tordor Torvia Uldan Ullene Vadan Valia
    Vatia Vaton Vavek Velgar Vellia Velsela Velton Vordor Vorgar Vorlis Vormira Wengar
    Wenrus Wenton Wenvek Willia Wilrin Wilsela Wilton Yamon Yaric Yasela Yaton Yavek Yorbel
    Yorlis Yormira Yorric Yorvek Zalia Zamira Zaric Zelsela Zelthea Zelton
    """.split()
)
LAST_NAMES = tuple(
    """
    Aldahl Allund Almere Begrove Bemarr Besten Bevane Borberg Bordahl Borgrove Bormarr
    Borwick Cabryn Caquist Cathorn Corford Corgrove Dadahl Dadell Daford Dagarde Dalund
    Damere Darath Dastad Dasten Delgarde Delgrove Delrath Delstad Delthorn Dorberg Dordahl
    Dorquist Dorthorn Dorvane Dorwick Eldahl Elkov Elsten Elthorn Elwick Engarde Enlund
    Enthorn Fagarde Faquist Fenberg Fendahl Fengrove Fenmarr Fenwick Gaberg Gagrove Gamere
    Garath Gathorn Gilberg Gilbryn Gilholt Gilhurst Gilvane Gilwick Halford Halgrove
    Halhurst Halquist Halsten Halwick Harhurst Harwick Ilbryn Ilholt Illund Ilthorn Jargarde
    Jargrove Jarrath Kagrove Kamere Karath Kathorn Kawick Kelberg Kelford Kelkov Ladahl
    Lakov Lalund Lamere Larath Lasten Lawick Lorford Lorstad Lorwick Mabryn Magrove Makov
    Mastad Mergrove Mervane Moholt Mohurst Nabryn Nadahl Norholt Norvane Norwick Olberg
    Oldahl Olholt Orberg Orbryn Orford Orthorn Paberg Pabryn Padell Palund Parath Pavane
    Perdell Pergarde Perstad Pervane Raberg Raford Renberg Rendell Rengarde Renkov Renmarr
    Renwick Roberg Robryn Rodell Rogrove Rohurst Rokov Romarr Rothorn Sagrove Saholt Sathorn
    Seldahl Selgrove Sellund Selrath Soberg Sohurst Somarr Soquist Sowick Tadahl Tadell
    Tagarde Telberg Telmere Telquist Torberg Tordell Torford Torgrove Torhurst Tormarr
    Tormere Torrath Torsten Torthorn Torvane Ulmarr Vadell Vaholt Velford Velholt Velvane
    Vormere Vorquist Vorthorn Wenbryn Wengarde Wenmarr Wildahl Wilhurst Wilmarr Wilquist
    Yamarr Yathorn Yorberg Yormarr Yorstad Yorthorn Yorwick Zagarde Zasten Zathorn Zelgarde
    Zelmarr Zelstad
    """.split()
)
PLACES = tuple(
    """
    Alburgh Bebury Beport Borcross Borport Corminster Daburgh Dahaven Damouth Delburgh
    Dorville Elfield Elport Enburgh Faburgh Fafield Famouth Faport Gilbury Gilfield Gilhaven
    Halport Halville Harstead Harville Ilmouth Ilstead Ilville Jarbury Jarminster Jarport
    Kabury Kaminster Kaville Kelfield Kelhaven Lorburgh Lorbury Lorville Maport Merfield
    Moburgh Moville Naminster Namouth Naville Norstead Norville Olmouth Olstead Olville
    Orville Paburgh Perburgh Perhaven Perminster Permouth Rabury Raminster Raport Renville
    Sahaven Samouth Selfield Selminster Sohaven Sominster Somouth Taburgh Tacross Taminster
    Telcross Telport Telville Torburgh Torcross Torhaven Ulburgh Ulport Ulville Vaburgh
    Vacross Vafield Vaminster Velburgh Vorburgh Vorbury Vorcross Vorport Wilcross Wilfield
    Wilmouth Wilport Yacross Yaminster Yorport Zaburgh Zaminster Zaport Zelburgh
    """.split()
)
COUNTRIES = tuple(
    """
    Beoria Daoria Delenia Deloria Elenia Enavia Faenia Gilenia Ilistan Jaroria Kaistan
    Loronia Maenia Maistan Maonia Moonia Naavia Olonia Oloria Oravia Ororia Paoria Peravia
    Raistan Renistan Renonia Saoria Selonia Soenia Soonia Taonia Torenia Ulistan Velenia
    Velistan Voravia Wenistan Wilistan Yoristan Zelonia
    """.split()
)
TITLE_ADJECTIVES = tuple(
    """
    Silent Crimson Broken Golden Hidden Distant Frozen Burning Hollow Velvet Paper Iron Bitter
    Endless Lonely Scarlet Winter Electric Painted Wandering Amber Ancient Autumn Blind Brave
    Bright Buried Copper Crooked Curious Dancing Drowned Emerald Faded Fallen Forgotten Gentle
    Glass Grey Haunted Humble Idle Ivory Laughing Marble Midnight Narrow Patient Quiet Restless
    Rising Rusty Sacred Shattered Silver Sleeping Stolen Stormy Tender Twisted
    """.split()
)
TITLE_NOUNS = tuple(
    """
    Harbor Garden Mirror River Station Orchard Lantern Bridge Valley Cathedral Island Letter
    Carnival Shadow Window Ocean Kingdom Machine Forest Melody Tower Voyage Sparrow Desert
    Anchor Arrow Balcony Beacon Candle Canyon Castle Chapel Clock Crown Diary Engine Falcon
    Feather Fountain Gallery Hammer Horizon Journey Ladder Lighthouse Meadow Museum Needle
    Opera Palace Piano Portrait Promise Railway Ribbon Riddle Shore Statue Theatre Violin
    """.split()
)
MONTHS = tuple(
    """
    January February March April May June July August September October November December
    """.split()
)
DAYS = tuple(str(day) for day in range(1, 29))
YEARS = tuple(str(year) for year in range(1880, 2021))
